"""The interfaces of other libraries, so that code written for them runs with the import changed."""
