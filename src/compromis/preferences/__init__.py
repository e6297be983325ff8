"""What matters, and how much: the two answers and the importance of each class."""

from compromis.preferences.preference import Preference
from compromis.preferences.preferences import PreferenceArrays, Preferences

__all__ = ["Preference", "PreferenceArrays", "Preferences"]
