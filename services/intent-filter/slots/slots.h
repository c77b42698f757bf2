/*
 * slots: the parameters of a matched intent, as given and ready for execution;
 * which of the command's times they use; the check by the terminal's skill.
 */
#ifndef INTENT_FILTER_SLOTS_SLOTS_H
#define INTENT_FILTER_SLOTS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "match/candidate.h"
#include "match/clause.h"
#include "wire/msgs.h"

struct skill_cache;
struct wire_out;

/* ---- values ---- */

enum slot_value_kind { VALUE_NONE, VALUE_TEXT, VALUE_NUMBER, VALUE_JSON };

struct slot_value {
	enum slot_value_kind kind;
	struct str s; /* text or JSON */
	double number;
};

/*
 * slot_value_of_text(u, slot, start, end):
 * The value of the bytes [start, end) of the command for a slot: by the slot's
 * own values; in seconds where its name ends in "_seconds" ("10" of "10分钟" is
 * 600); as a number where the slot holds one; by the words of the minimal skill
 * set (mode, color); else the text itself.
 */
struct slot_value slot_value_of_text(const struct utterance *u,
    const struct catalog_slot *slot, size_t start, size_t end);

/* slot_value_of_form(slot, folded): The same of another form of the text. */
struct slot_value slot_value_of_form(
    const struct catalog_slot *slot, struct str folded);

/*
 * slot_value_of_listed(slot, folded, at):
 * The value of the longest of the slot's own words that occurs in a text, and
 * its position; at may be NULL.
 */
struct slot_value slot_value_of_listed(
    const struct catalog_slot *slot, struct str folded, struct text_span *at);

/*
 * slot_value_of_time(u, t, key, a):
 * The member key of a time: duration_seconds, trigger_at, end_at; VALUE_NONE if
 * it has none.  No instant is before now.
 */
struct slot_value slot_value_of_time(const struct utterance *u,
    const struct datetime *t, struct str key, struct arena *a);

/* slot_value_put(v, o): Write it as o's next value. */
void slot_value_put(const struct slot_value *v, struct wire_out *o);

/* ---- times ---- */

/* Texts that slots took verbatim; more are not recorded. */
#define SLOT_TIMES_WORDS_MAX 32

/* Bit i of each set stands for the utterance's times[i]. */
_Static_assert(UTTERANCE_TIMES_MAX <= 64, "a set has a bit for each time");

struct slot_times {
	uint64_t taken;    /* by slots that hold a time */
	uint64_t expired;  /* over, or of which half: must be asked for */
	uint64_t rejected; /* repetitions for a slot that holds one instant */
	/* Texts that other slots took verbatim. */
	struct text_span words[SLOT_TIMES_WORDS_MAX];
	size_t n_words;
};

/* slot_times_bit(u, t): The bit of one of the utterance's times. */
uint64_t slot_times_bit(const struct utterance *u, const struct datetime *t);

/* slot_times_note(s, start, end): Record that a slot took these bytes. */
void slot_times_note(struct slot_times *s, size_t start, size_t end);

/*
 * slot_times_is_repeat(s, u, t):
 * Whether the text of a slot says that t is repeated: "daily" of 每天.
 */
bool slot_times_is_repeat(const struct slot_times *s, const struct utterance *u,
    const struct datetime *t);

/*
 * slot_times_unused(s, u, g, claim):
 * The times of the segment that the claim's intent would drop: it must not be
 * executed then.  Not among them are times that include now, times in
 * quotations or in the catalog's own phrases, and those that do not schedule
 * anything (刚才, 以后, 都十点了).
 */
uint64_t slot_times_unused(const struct slot_times *s,
    const struct utterance *u, const struct segment *g,
    const struct claim *claim);

/* ---- all slots of an intent ---- */

#define SLOTS_SPANS 16

struct slots {
	struct str parameters; /* JSON object: all slots but "skill" */
	struct str normalized; /* JSON object: all slots */
	struct str *missing;   /* names of required slots without a value */
	size_t n_missing;
	size_t filled; /* how many were filled from the text */
	/* Values of one slot that a conjunction joins: an intent for each. */
	size_t n_variants;
	size_t n_amended; /* of those, by a segment that amends */
	/* Where in the text, as far as known. */
	struct text_span spans[SLOTS_SPANS];
	size_t n_spans;
	struct slot_times times;
};

/*
 * slots_fill(m, g, t):
 * Fill the slots of a candidate of g, unless they are filled: t->slots, in the
 * arena.  The first source wins: the time that the slot names, an entity of its
 * types, the capture of its pattern, one of its own values in the text, its
 * default.  A slot named "…_seconds" or "…_at" without another source takes the
 * segment's time; a color without a mode means mode set_color.  A slot whose
 * time of today is over, or with needs_half of either half of the day, is
 * missing, required or not.  A repetition does not
 * fill a slot of one instant, unless another slot holds the repetition.
 * Of several values of one slot that a conjunction joins (打开客厅和卧室的灯)
 * the one with the number t->variant is taken.  RC_TOOBIG if the arena is full.
 */
enum rc slots_fill(const struct matcher *m, const struct segment *g,
    struct candidate *t) RC_CHECK;

/* A terminal's skills, and where their schemas are compiled. */
struct skill_set {
	const struct wire_skill *skills;
	size_t n;
	struct skill_cache *cache;
};

/*
 * skill_check(set, s, a):
 * Coerce s->normalized to the input_schema of the skill that its member skill
 * names.  RC_INVALID if there is no such skill or the schema rejects the
 * arguments; s->missing then has the required ones that are absent, if that is
 * the reason.  RC_TOOBIG if a is full.
 */
enum rc skill_check(
    const struct skill_set *set, struct slots *s, struct arena *a) RC_CHECK;

#endif /* !INTENT_FILTER_SLOTS_SLOTS_H */
