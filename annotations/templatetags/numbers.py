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


@register.filter
def small(value: float) -> str:
    """A figure to three places, or to two digits where that would be nothing."""
    return f"{value:.3f}" if abs(value) >= 0.01 or not value else f"{value:.2g}"


@register.filter
def chance(value: float) -> str:
    """A p value."""
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"
