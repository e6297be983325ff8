"""Files and frames: where rows come from before they become evidence."""
