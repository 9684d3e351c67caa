#!/usr/bin/env python
import os
import sys

OURS = ("annotations", "badcollect", "bots", "tests")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "badcollect.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed here. Run `make install`, then use .venv/bin/python manage.py.")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith(OURS):
            raise
        sys.exit(
            f"{error.name} is not installed here. Run `make install`, then use .venv/bin/python manage.py."
        )


if __name__ == "__main__":
    main()
