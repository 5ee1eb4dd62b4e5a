"""Static checks of the codebase: table ownership, import cycles, folder sizes, class names and vocabulary."""
