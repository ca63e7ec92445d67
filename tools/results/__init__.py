"""Records finished runs of this project in results/ and makes the tables and pages of them."""
