/*
 * What the names and patterns of slots say of their values.
 */
#include "catalog/catalog_internal.h"
#include "core/mem.h"
#include "text/vocabulary.h"

/* Slots that hold text even if it is digits. */
static bool
catalog_slot_holds_words(struct str name)
{
	static const char words[] = "label title name text content song query "
				    "message artist note skill mode album "
				    "keyword topic person place";

	return vocabulary_list_has(str_of(words), name);
}

/* Slots that hold a number even if it is written in words. */
static bool
catalog_slot_holds_number(struct str name)
{
	static const struct str ends[] = { STR_INIT("seconds"),
		STR_INIT("minutes"), STR_INIT("hours"), STR_INIT("count"),
		STR_INIT("number"), STR_INIT("level"), STR_INIT("percent"),
		STR_INIT("temperature"), STR_INIT("temp"), STR_INIT("volume"),
		STR_INIT("degree"), STR_INIT("degrees"), STR_INIT("angle"),
		STR_INIT("speed"), STR_INIT("brightness"), STR_INIT("value"),
		STR_INIT("times"), STR_INIT("duration"), STR_INIT("index"),
		STR_INIT("channel"), STR_INIT("amount"), STR_INIT("steps"),
		STR_INIT("distance"), STR_INIT("step"), STR_INIT("delta") };
	size_t i;

	for (i = 0; i < NELEM(ends); i++) {
		if (str_ends(name, ends[i]))
			return true;
	}
	return false;
}

/* A pattern that takes digits takes a number. */
static bool
catalog_slot_takes_digits(const struct wire_intent_slot *def)
{
	return def->regex.p != NULL &&
	    (str_find(def->regex, STR("0-9")) >= 0 ||
		str_find(def->regex, STR("\\d")) >= 0);
}

unsigned
catalog_slot_traits(const struct wire_intent_slot *def)
{
	unsigned traits = 0;

	if (catalog_slot_holds_words(def->name))
		traits |= CATALOG_SLOT_HOLDS_WORDS;
	if (catalog_slot_holds_number(def->name) ||
	    catalog_slot_takes_digits(def))
		traits |= CATALOG_SLOT_HOLDS_NUMBER;
	return traits;
}

ptrdiff_t
catalog_slot_index(const struct wire_intent *def, struct str name)
{
	size_t i;

	for (i = 0; i < def->n_slots; i++) {
		if (str_eq(def->slots[i].name, name))
			return (ptrdiff_t)i;
	}
	return -1;
}
