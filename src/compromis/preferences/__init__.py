"""What matters, and how much: the two answers and the importance of each class."""

from compromis.preferences.preference import Preference
from compromis.preferences.preferences import Label, PreferenceArrays, Preferences

__all__ = ["Label", "Preference", "PreferenceArrays", "Preferences"]
