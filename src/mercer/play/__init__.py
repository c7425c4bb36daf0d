"""A page where kernel machines move."""
