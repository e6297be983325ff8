"""The interactive panel: evidence as a JSON document, and our own script and style that turn it into sliders and pictures."""

from compromis.reporting.panel.assets import panel_assets
from compromis.reporting.panel.document import panel_document

__all__ = ["panel_assets", "panel_document"]
