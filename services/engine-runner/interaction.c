/*
 * Blocks are small: they are parsed as trees.
 */
#include "interaction.h"

#include <string.h>

#include "core/mem.h"
#include "wire/msgs.h"
#include "wire/tree.h"

#define VALUE_MAX 256
#define LABEL_MAX 1024
#define NAME_MAX_ 128

static bool
interaction_kind(struct str name, enum wire_question_kind *kind)
{
	for (unsigned i = 0; i <= WIRE_QUESTION_KIND_FORM; i++) {
		if (str_eq(name, wire_question_kind_names[i])) {
			*kind = (enum wire_question_kind)i;
			return true;
		}
	}
	return false;
}

static struct str
interaction_text(
    const struct wire_tree *v, const char *key, size_t max, struct arena *a)
{
	struct str s = wire_tree_text(wire_tree_get(v, str_of(key)));

	return s.n > 0 ? arena_str(a, fcmp_truncate(s, max))
		       : (struct str){ NULL, 0 };
}

/* One option: a text, or an object with value or label. */
static bool
interaction_option(
    const struct wire_tree *v, struct arena *a, struct wire_question_option *o)
{
	*o = (struct wire_question_option){ 0 };
	if (wire_tree_kind(v) == WIRE_TREE_TEXT) {
		o->value =
		    arena_str(a, fcmp_truncate(wire_tree_text(v), VALUE_MAX));
		return o->value.n > 0;
	}
	o->label = interaction_text(v, "label", LABEL_MAX, a);
	o->value = interaction_text(v, "value", VALUE_MAX, a);
	if (o->value.n == 0)
		o->value = interaction_text(v, "label", VALUE_MAX, a);
	return o->value.n > 0;
}

static bool
interaction_options(const struct wire_tree *v, struct arena *a,
    struct wire_question_option **to, size_t *n)
{
	size_t len = wire_tree_len(v);

	*n = 0;
	*to = NULL;
	if (wire_tree_kind(v) != WIRE_TREE_ARRAY || len == 0)
		return true;
	if (len > INTERACTION_OPTIONS_MAX)
		return false;
	*to = arena_alloc(a, len * sizeof(**to));
	for (; *to != NULL && *n < len; ++*n) {
		if (!interaction_option(wire_tree_at(v, *n), a, &(*to)[*n]))
			return false;
	}
	return *to != NULL;
}

static bool
interaction_field(
    const struct wire_tree *v, struct arena *a, struct wire_question_field *f)
{
	struct str kind = wire_tree_text(wire_tree_get(v, STR("kind")));
	const struct wire_tree *required = wire_tree_get(v, STR("required"));

	*f = (struct wire_question_field){ .required = true };
	f->name = interaction_text(v, "name", NAME_MAX_, a);
	f->label = interaction_text(v, "label", LABEL_MAX, a);
	if (wire_tree_kind(required) == WIRE_TREE_BOOL)
		f->required = wire_tree_bool(required);
	f->kind = WIRE_QUESTION_KIND_FREE_TEXT;
	if (kind.n > 0 &&
	    (!interaction_kind(kind, &f->kind) ||
		f->kind == WIRE_QUESTION_KIND_FORM))
		return false;
	if (!interaction_options(wire_tree_get(v, STR("options")), a,
		&f->options, &f->n_options))
		return false;
	/* A choice of nothing cannot be made. */
	return f->name.n > 0 &&
	    (f->kind == WIRE_QUESTION_KIND_FREE_TEXT || f->n_options > 0);
}

/* The fields of an array, each read by read. */
static bool
interaction_fields(const struct wire_tree *v, struct arena *a,
    bool (*read)(const struct wire_tree *v, struct arena *a,
	struct wire_question_field *f),
    struct fcmp_question *q)
{
	size_t len = wire_tree_len(v);
	struct wire_question_field *f;

	if (wire_tree_kind(v) != WIRE_TREE_ARRAY || len == 0 ||
	    len > INTERACTION_FIELDS_MAX)
		return false;
	f = arena_alloc(a, len * sizeof(*f));
	for (size_t i = 0; f != NULL && i < len; i++) {
		if (!read(wire_tree_at(v, i), a, &f[i]))
			return false;
	}
	q->fields = f;
	q->n_fields = len;
	return f != NULL;
}

/* ---- a block ---- */

static bool
interaction_block(
    const struct wire_tree *v, struct arena *a, struct fcmp_question *q)
{
	struct str kind = wire_tree_text(wire_tree_get(v, STR("kind")));
	struct wire_question_option *options;

	*q = (struct fcmp_question){ .kind = WIRE_QUESTION_KIND_FREE_TEXT };
	if (wire_tree_kind(v) != WIRE_TREE_OBJECT ||
	    (kind.n > 0 && !interaction_kind(kind, &q->kind)))
		return false;
	q->prompt = interaction_text(v, "prompt", FCMP_PROMPT_MAX, a);
	if (q->kind == WIRE_QUESTION_KIND_FORM)
		return interaction_fields(
		    wire_tree_get(v, STR("fields")), a, interaction_field, q);
	if (q->kind == WIRE_QUESTION_KIND_FREE_TEXT)
		return true;
	if (!interaction_options(
		wire_tree_get(v, STR("options")), a, &options, &q->n_options))
		return false;
	q->options = options;
	return q->n_options > 0;
}

/* The inside of the last fence that begins with ```ask_user. */
static bool
interaction_find(struct str text, struct str *block)
{
	struct str fence = STR("```");
	bool inside = false, found = false;
	const char *from = NULL;

	while (text.p != NULL) {
		struct str line = str_split(&text, '\n');
		struct str bare = str_trim(line);

		if (inside && str_eq(bare, fence)) {
			*block = (struct str){ from, (size_t)(line.p - from) };
			inside = false;
			found = true;
		} else if (!inside && str_eq(bare, STR("```ask_user"))) {
			inside = text.p != NULL;
			from = text.p;
		}
	}
	return found;
}

enum rc
interaction_of_text(struct str text, struct arena *a, struct fcmp_question *q)
{
	struct wire_tree *v;
	struct str block;
	bool ok;

	/* Mostly there is none. */
	if (str_find(text, STR("```ask_user")) < 0 ||
	    !interaction_find(text, &block) ||
	    wire_tree_parse(block, &v) != RC_OK)
		return RC_NOENT;
	ok = interaction_block(v, a, q);
	wire_tree_free(v);
	return ok ? RC_OK : RC_NOENT;
}

/* ---- codex ---- */

static bool
interaction_question(
    const struct wire_tree *v, struct arena *a, struct wire_question_field *f)
{
	*f = (struct wire_question_field){ .required = true };
	f->name = interaction_text(v, "id", NAME_MAX_, a);
	f->label = interaction_text(v, "question", LABEL_MAX, a);
	if (f->label.n == 0)
		f->label = interaction_text(v, "header", LABEL_MAX, a);
	if (!interaction_options(wire_tree_get(v, STR("options")), a,
		&f->options, &f->n_options))
		return false;
	f->kind = f->n_options > 0 ? WIRE_QUESTION_KIND_SINGLE_CHOICE
				   : WIRE_QUESTION_KIND_FREE_TEXT;
	return f->name.n > 0;
}

static bool
interaction_questions(
    const struct wire_tree *v, struct arena *a, struct fcmp_question *q)
{
	const struct wire_question_field *f;

	*q = (struct fcmp_question){ .kind = WIRE_QUESTION_KIND_FORM };
	if (!interaction_fields(v, a, interaction_question, q))
		return false;
	f = q->fields;
	q->prompt = f[0].label;
	if (q->n_fields > 1)
		return true;
	q->fields = NULL;
	q->n_fields = 0;
	q->kind = f[0].kind;
	q->options = f[0].options;
	q->n_options = f[0].n_options;
	return true;
}

enum rc
interaction_of_codex(struct str json, struct arena *a, struct fcmp_question *q)
{
	struct wire_tree *v;
	bool ok;

	if (json.n == 0 || wire_tree_parse(json, &v) != RC_OK)
		return RC_NOENT;
	ok = interaction_questions(v, a, q);
	wire_tree_free(v);
	return ok ? RC_OK : RC_NOENT;
}
