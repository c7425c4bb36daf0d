"""A plugin of pytest: Mercer's classes are patched into scikit-learn before any of its tests is read."""

import mercer.dropin

mercer.dropin.patch()
