/*
 * normalized without its member skill are the skill's arguments.
 */
#include "skill.h"

#include "core/buf.h"
#include "wire/coerce.h"
#include "wire/out.h"
#include "wire/schema.h"
#include "wire/tree.h"

static const struct wire_skill *
find(const struct wire_skill *skills, size_t n, struct str name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (str_eq(skills[i].name, name))
			return &skills[i];
	}
	return NULL;
}

/* The members of an object but skill; with it first, if it is given. */
static void
put_members(const struct wire_tree *object, struct str skill, struct buf *b)
{
	struct wire_out o = { .b = b };
	struct wire_tree_member m;
	bool more;

	wire_out_object(&o);
	if (skill.p != NULL) {
		wire_out_key(&o, STR("skill"));
		wire_out_str(&o, skill);
	}
	for (more = wire_tree_first(object, &m); more;
	     more = wire_tree_next(object, &m)) {
		if (str_eq(m.key, STR("skill")))
			continue;
		wire_out_key(&o, m.key);
		wire_tree_put(m.value, &o);
	}
	wire_out_object_end(&o);
}

/* The required members of a schema that arguments do not have. */
static enum rc
find_missing(const struct wire_tree *schema, const struct wire_tree *arguments,
    struct slots *s, struct arena *a)
{
	const struct wire_tree *required =
	    wire_tree_get(schema, STR("required"));
	size_t i, n = wire_tree_len(required);

	s->nmissing = 0;
	s->missing = arena_alloc(a, n * sizeof(*s->missing));
	if (s->missing == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		struct str name = wire_tree_text(wire_tree_at(required, i));

		if (name.p == NULL || wire_tree_get(arguments, name) != NULL)
			continue;
		s->missing[s->nmissing] = arena_str(a, name);
		if (s->missing[s->nmissing++].p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

/* Whether what is there is right; an error at a missing member is none. */
static enum rc
check(struct str schema, struct str arguments, struct slots *s, struct arena *a)
{
	struct wire_tree *shape = NULL, *args = NULL;
	struct wire_schema *compiled = NULL;
	enum rc rc, valid;

	rc = wire_tree_parse(schema, &shape);
	if (rc == RC_OK)
		rc = wire_tree_parse(arguments, &args);
	if (rc == RC_OK)
		rc = wire_schema_new(schema, &compiled, NULL);
	if (rc == RC_OK) {
		valid = wire_schema_check(compiled, arguments, NULL);
		rc = find_missing(shape, args, s, a);
		if (rc == RC_OK)
			rc = valid;
	}
	wire_schema_free(compiled);
	wire_tree_free(args);
	wire_tree_free(shape);
	return rc == RC_TOOBIG ? RC_TOOBIG : rc == RC_OK ? RC_OK : RC_INVALID;
}

static enum rc
check_call(const struct wire_skill *skill, const struct wire_tree *call,
    struct slots *s, struct arena *a)
{
	struct buf plain = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf fitting = BUF_INIT(WIRE_MESSAGE_MAX);
	struct buf whole = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_tree *arguments = NULL;
	enum rc rc;

	put_members(call, (struct str){ 0 }, &plain);
	rc = buf_rc(&plain);
	if (rc == RC_OK)
		rc =
		    wire_coerce(skill->input_schema, buf_str(&plain), &fitting);
	if (rc == RC_OK)
		rc = wire_tree_parse(buf_str(&fitting), &arguments);
	if (rc == RC_OK) {
		put_members(arguments, skill->name, &whole);
		s->normalized = arena_str(a, buf_str(&whole));
		rc = s->normalized.p != NULL
		    ? check(skill->input_schema, buf_str(&fitting), s, a)
		    : RC_TOOBIG;
	}
	wire_tree_free(arguments);
	buf_free(&plain);
	buf_free(&fitting);
	buf_free(&whole);
	return rc;
}

enum rc
skill_check(
    const struct wire_skill *skills, size_t n, struct slots *s, struct arena *a)
{
	const struct wire_skill *skill;
	struct wire_tree *call;
	enum rc rc;

	rc = wire_tree_parse(s->normalized, &call);
	if (rc != RC_OK)
		return rc;
	skill =
	    find(skills, n, wire_tree_text(wire_tree_get(call, STR("skill"))));
	if (skill == NULL)
		rc = RC_INVALID;
	else if (skill->input_schema.p != NULL)
		rc = check_call(skill, call, s, a);
	wire_tree_free(call);
	return rc;
}
