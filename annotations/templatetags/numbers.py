"""Numbers as pages show them."""

from django import template

register = template.Library()


@register.filter
def count(value: int | None) -> str:
    """A whole number with commas between the thousands; a dash for none."""
    return "–" if value is None else f"{value:,}"


@register.filter
def words(name: str) -> str:
    """The name of a column of data, as a heading: not_ok reads Not ok."""
    return name.replace("_", " ").capitalize().replace("Not ok", "Not OK")
