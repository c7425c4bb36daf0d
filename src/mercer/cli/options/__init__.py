"""What each verb is told: examples and arguments. Nothing heavy is imported: help and usage errors come at once."""
