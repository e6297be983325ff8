"""compromis: classifiers and evaluation for people whose classes do not matter equally.

Say what matters in two questions per class, and evaluate, tune, build and compare models by it.
Names are imported when they are first used, so that importing the package costs next to nothing.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
