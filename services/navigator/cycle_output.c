/*
 * A table of members, each with a function that reads its value; lines become
 * such values, too.
 */
#include "cycle_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define INTENT_MAX  64
#define NEED_MAX    256
#define REASON_MAX  512
#define MEMORY_MAX  1024
#define DELTA_BYTES 1024
/* Bytes of a name that is shown. */
#define NAME_MAX_BYTES 32
/* A value of a line, as JSON. */
#define LINE_JSON_MAX 16384

struct output_reader {
	struct arena *a;
	struct cycle_output *out;
	char *why;
	const char *path; /* of the member that is read */
	enum rc rc;
	size_t found; /* members */
};

/* ---- values ---- */

static void
output_fail(struct output_reader *r, const char *member, const char *why)
{
	if (r->rc != RC_OK)
		return;
	r->rc = RC_INVALID;
	(void)snprintf(
	    r->why, CYCLE_WHY_MAX, "/%s%s: %s", r->path, member, why);
}

static struct str
output_head(struct str s, size_t code_points)
{
	size_t pos = 0;

	s = str_trim(s);
	while (code_points-- > 0 && str_utf8_next(s, &pos) >= 0)
		continue;
	return (struct str){ s.p, pos };
}

/* What models write for nothing. */
static bool
output_is_nothing(struct str s)
{
	static const struct str words[] = { STR_INIT("none"), STR_INIT("null"),
		STR_INIT("no"), STR_INIT("n/a"), STR_INIT("无"),
		STR_INIT("没有") };
	size_t i;

	for (i = 0; i < NELEM(words); i++)
		if (str_eq_nocase(s, words[i]))
			return true;
	return s.n == 0;
}

/* Absent: there is none, or it is not valid. */
static struct str
output_text(struct output_reader *r, const struct wire_tree *v,
    const char *member, size_t max)
{
	struct str s = wire_tree_text(v);

	if (wire_tree_kind(v) == WIRE_TREE_NULL)
		return (struct str){ 0 };
	if (s.p == NULL) {
		output_fail(r, member, "must be a string");
		return (struct str){ 0 };
	}
	s = output_head(s, max);
	if (output_is_nothing(s))
		return (struct str){ 0 };
	s = arena_str(r->a, s);
	if (s.p == NULL && r->rc == RC_OK)
		r->rc = RC_TOOBIG;
	return s;
}

static bool
output_flag(
    struct output_reader *r, const struct wire_tree *v, const char *member)
{
	struct str s = str_trim(wire_tree_text(v));

	if (wire_tree_kind(v) == WIRE_TREE_BOOL)
		return wire_tree_bool(v);
	if (str_eq_nocase(s, STR("true")) || str_eq_nocase(s, STR("yes")) ||
	    str_eq(s, STR("是")))
		return true;
	if (wire_tree_kind(v) != WIRE_TREE_NULL && !output_is_nothing(s) &&
	    !str_eq_nocase(s, STR("false")) && !str_eq(s, STR("否")))
		output_fail(r, member, "must be true or false");
	return false;
}

/* ---- members ---- */

static void
output_read_suggestion(struct output_reader *r, const struct wire_tree *v)
{
	r->out->o.suggestion = output_text(r, v, "", CYCLE_TEXT_MAX);
}

static void
output_read_intent(struct output_reader *r, const struct wire_tree *v)
{
	r->out->o.intent = output_text(r, v, "", INTENT_MAX);
}

static void
output_read_archival(struct output_reader *r, const struct wire_tree *v)
{
	r->out->o.memory_archival = output_flag(r, v, "");
}

/* The names of psyche_apply_request. */
static bool
output_is_psyche_name(struct str name)
{
	static const struct str names[] = { STR_INIT("fear"),
		STR_INIT("survival"), STR_INIT("curiosity"),
		STR_INIT("laziness"), STR_INIT("intimacy"), STR_INIT("p"),
		STR_INIT("a"), STR_INIT("d"), STR_INIT("pleasure"),
		STR_INIT("arousal"), STR_INIT("dominance"), STR_INIT("joy"),
		STR_INIT("sadness"), STR_INIT("anger") };
	size_t i;

	for (i = 0; i < NELEM(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

static bool
output_number(const struct wire_tree *v, double *out)
{
	struct str s = str_trim(wire_tree_text(v));

	if (wire_tree_kind(v) == WIRE_TREE_NUMBER) {
		*out = wire_tree_number(v);
		return true;
	}
	if (str_starts(s, STR("+")))
		s = (struct str){ s.p + 1, s.n - 1 };
	return s.n > 0 && str_to_f64(s, -1e6, 1e6, out) == RC_OK;
}

static void
output_put_delta(struct output_reader *r, const struct wire_tree_member *m,
    struct wire_out *o, struct buf *unknown)
{
	double x;

	if (!output_is_psyche_name(m->key)) {
		buf_printf(unknown, "%s%.*s", unknown->n > 0 ? " " : "",
		    STR_ARG(output_head(m->key, NAME_MAX_BYTES)));
	} else if (!output_number(m->value, &x)) {
		output_fail(r, "", "must have numbers only");
	} else if (x != 0 && !isnan(x)) {
		wire_out_key(o, m->key);
		wire_out_f64(
		    o, fmax(-CYCLE_DELTA_MAX, fmin(CYCLE_DELTA_MAX, x)));
	}
}

static void
output_read_delta(struct output_reader *r, const struct wire_tree *v)
{
	struct buf b = BUF_INIT(DELTA_BYTES), unknown = BUF_INIT(DELTA_BYTES);
	struct wire_out o = { .b = &b };
	struct wire_tree_member m;
	bool more;

	if (wire_tree_kind(v) != WIRE_TREE_NULL &&
	    wire_tree_kind(v) != WIRE_TREE_OBJECT)
		output_fail(r, "", "must be an object");
	wire_out_object(&o);
	for (more = wire_tree_first(v, &m); more; more = wire_tree_next(v, &m))
		output_put_delta(r, &m, &o, &unknown);
	wire_out_object_end(&o);
	if (buf_rc(&b) != RC_OK)
		output_fail(r, "", "has too many members");
	else if (b.n > strlen("{}"))
		r->out->o.psyche_delta = arena_str(r->a, buf_str(&b));
	if (unknown.n > 0)
		r->out->unknown = arena_str(r->a, buf_str(&unknown));
	buf_free(&b);
	buf_free(&unknown);
}

static void
output_read_evolution(struct output_reader *r, const struct wire_tree *v)
{
	struct wire_navigator_output_evolution_request *e =
	    &r->out->o.evolution_request;

	*e = (struct wire_navigator_output_evolution_request){ 0 };
	if (wire_tree_kind(v) == WIRE_TREE_OBJECT) {
		e->need = output_text(
		    r, wire_tree_get(v, STR("need")), "/need", NEED_MAX);
		e->why = output_text(
		    r, wire_tree_get(v, STR("why")), "/why", REASON_MAX);
		e->example = output_text(r, wire_tree_get(v, STR("example")),
		    "/example", REASON_MAX);
	} else {
		e->need = output_text(r, v, "", NEED_MAX);
	}
	r->out->o.has_evolution_request = e->need.n > 0;
}

static enum wire_memory_type
output_memory_type(struct str s)
{
	size_t i;

	for (i = 0; i < NELEM(wire_memory_type_names); i++)
		if (str_eq_nocase(s, wire_memory_type_names[i]))
			return (enum wire_memory_type)i;
	return WIRE_MEMORY_TYPE_FACT;
}

static void
output_add_memory(struct output_reader *r, const struct wire_tree *v)
{
	struct wire_navigator_output *o = &r->out->o;
	struct wire_navigator_output_memories m = { 0 };
	const struct wire_tree *text = v;

	if (o->n_memories == CYCLE_MEMORIES_MAX)
		return;
	if (wire_tree_kind(v) == WIRE_TREE_OBJECT) {
		text = wire_tree_get(v, STR("text"));
		if (text == NULL)
			text = wire_tree_get(v, STR("content"));
	}
	m.text = output_text(r, text, "", MEMORY_MAX);
	m.type =
	    output_memory_type(wire_tree_text(wire_tree_get(v, STR("type"))));
	if (m.text.n == 0)
		return;
	o->memories[o->n_memories++] = m;
	o->has_memories = true;
}

static void
output_read_memories(struct output_reader *r, const struct wire_tree *v)
{
	size_t i;

	if (wire_tree_kind(v) != WIRE_TREE_ARRAY) {
		output_add_memory(r, v);
		return;
	}
	for (i = 0; i < wire_tree_len(v); i++)
		output_add_memory(r, wire_tree_at(v, i));
}

static void
output_read_proactive(struct output_reader *r, const struct wire_tree *v)
{
	struct wire_navigator_output_proactive *p = &r->out->o.proactive;
	const struct wire_tree *urgent = wire_tree_get(v, STR("urgent"));
	struct str urgency =
	    str_trim(wire_tree_text(wire_tree_get(v, STR("urgency"))));

	*p = (struct wire_navigator_output_proactive){ 0 };
	if (wire_tree_kind(v) == WIRE_TREE_OBJECT) {
		p->text = output_text(
		    r, wire_tree_get(v, STR("text")), "/text", CYCLE_TEXT_MAX);
		p->urgent = output_flag(r, urgent, "/urgent") ||
		    str_eq_nocase(urgency, STR("high")) ||
		    str_eq_nocase(urgency, STR("urgent"));
	} else {
		p->text = output_text(r, v, "", CYCLE_TEXT_MAX);
	}
	r->out->o.has_proactive = p->text.n > 0;
}

static const struct {
	const char *name;
	void (*read)(struct output_reader *r, const struct wire_tree *v);
	/* What else a line may begin with; NULL: no more. */
	const char *lines[3];
} output_members[] = {
	{ "suggestion", output_read_suggestion,
	    { "navigator_suggestion", "建议", NULL } },
	{ "intent", output_read_intent, { "意图", NULL } },
	{ "psyche_delta", output_read_delta, { "delta", "心理变化", NULL } },
	{ "memory_archival", output_read_archival,
	    { "archival", "记忆归档", NULL } },
	{ "evolution_request", output_read_evolution,
	    { "evolution", "进化请求", NULL } },
	{ "memories", output_read_memories, { "memory", "记忆", NULL } },
	{ "proactive", output_read_proactive,
	    { "proactive_instruction", "主动", NULL } },
};

static void
output_read_member(struct output_reader *r, size_t i, const struct wire_tree *v)
{
	r->path = output_members[i].name;
	output_members[i].read(r, v);
	r->found++;
}

/* ---- one object ---- */

static struct str
output_skip_reasoning(struct str s)
{
	static const struct str begin = STR_INIT("<think>"),
				end = STR_INIT("</think>");
	ptrdiff_t at;

	while ((at = str_find(s, end)) >= 0) {
		s.p += at + (ptrdiff_t)end.n;
		s.n -= (size_t)at + end.n;
	}
	/* It was truncated before its end. */
	at = str_find(s, begin);
	if (at >= 0)
		s.n = (size_t)at;
	return str_trim(s);
}

/* The content of the first fence; empty: there is none. */
static struct str
output_fenced(struct str s)
{
	static const struct str fence = STR_INIT("```");
	ptrdiff_t at = str_find(s, fence);

	if (at < 0)
		return (struct str){ s.p, 0 };
	s.p += at + (ptrdiff_t)fence.n;
	s.n -= (size_t)at + fence.n;
	(void)str_split(&s, '\n');
	at = str_find(s, fence);
	if (at >= 0)
		s.n = (size_t)at;
	return str_trim(s);
}

static struct str
output_braces(struct str s)
{
	size_t from = 0, to = s.n;

	if (s.n == 0)
		return s;
	while (from < s.n && s.p[from] != '{')
		from++;
	while (to > from && s.p[to - 1] != '}')
		to--;
	return (struct str){ s.p + from, to - from };
}

static struct wire_tree *
output_find_object(struct str s)
{
	const struct str parts[] = { s, output_fenced(s), output_braces(s),
		output_braces(output_fenced(s)) };
	struct wire_tree *v;
	size_t i;

	for (i = 0; i < NELEM(parts); i++) {
		if (parts[i].n == 0 || wire_tree_parse(parts[i], &v) != RC_OK)
			continue;
		if (wire_tree_kind(v) == WIRE_TREE_OBJECT)
			return v;
		wire_tree_free(v);
	}
	return NULL;
}

static void
output_read_object(struct output_reader *r, const struct wire_tree *v)
{
	const struct wire_tree *member;
	size_t i;

	for (i = 0; i < NELEM(output_members) && r->rc == RC_OK; i++) {
		member = wire_tree_get(v, str_of(output_members[i].name));
		if (member != NULL)
			output_read_member(r, i, member);
	}
}

/* ---- lines ---- */

/* After marks of lists and of emphasis. */
static struct str
output_line_begin(struct str s)
{
	s = str_trim(s);
	while (s.n > 0 && strchr("-*#> [", s.p[0]) != NULL)
		s = (struct str){ s.p + 1, s.n - 1 };
	return s;
}

/* What follows a name and a colon; absent: it is another line. */
static struct str
output_line_value(struct str line, const char *name)
{
	size_t n = strlen(name);
	struct str rest;

	if (line.n <= n ||
	    !str_eq_nocase((struct str){ line.p, n }, str_of(name)))
		return (struct str){ 0 };
	rest = (struct str){ line.p + n, line.n - n };
	while (rest.n > 0 && strchr("*] ", rest.p[0]) != NULL)
		rest = (struct str){ rest.p + 1, rest.n - 1 };
	if (str_starts(rest, STR(":")))
		n = strlen(":");
	else if (str_starts(rest, STR("：")))
		n = strlen("：");
	else
		return (struct str){ 0 };
	rest = (struct str){ rest.p + n, rest.n - n };
	while (rest.n > 0 && (rest.p[0] == '*' || rest.p[0] == ' '))
		rest = (struct str){ rest.p + 1, rest.n - 1 };
	return str_trim(rest);
}

/* "curiosity +0.1, fear=-0.2" as an object. */
static void
output_put_pairs(struct str s, struct wire_out *o)
{
	struct str pair, name;
	size_t n;

	wire_out_object(o);
	while (s.n > 0) {
		pair = str_trim(str_split(&s, ','));
		for (n = 0; n < pair.n && strchr("=: +-", pair.p[n]) == NULL;)
			n++;
		name = (struct str){ pair.p, n };
		while (n < pair.n && strchr("=: ", pair.p[n]) != NULL)
			n++;
		if (name.n == 0 || n == pair.n)
			continue;
		wire_out_key(o, name);
		wire_out_str(o, (struct str){ pair.p + n, pair.n - n });
	}
	wire_out_object_end(o);
}

/* The value of a line is JSON, or text. */
static void
output_read_line(struct output_reader *r, size_t i, struct str value)
{
	struct buf b = BUF_INIT(LINE_JSON_MAX);
	struct wire_out o = { .b = &b };
	struct wire_tree *v = NULL;
	bool is_delta = output_members[i].read == output_read_delta;

	if (value.n == 0)
		return;
	if (value.p[0] == '{' || value.p[0] == '[')
		buf_put_str(&b, value);
	else if (is_delta && !output_is_nothing(value))
		output_put_pairs(value, &o);
	else if (is_delta)
		wire_out_null(&o);
	else
		wire_out_str(&o, value);
	if (buf_rc(&b) == RC_OK && wire_tree_parse(buf_str(&b), &v) == RC_OK)
		output_read_member(r, i, v);
	wire_tree_free(v);
	buf_free(&b);
}

static void
output_try_line(struct output_reader *r, struct str line)
{
	struct str value;
	size_t i, k;

	for (i = 0; i < NELEM(output_members); i++) {
		value = output_line_value(line, output_members[i].name);
		for (k = 0; value.p == NULL && k < 3 &&
		     output_members[i].lines[k] != NULL;
		     k++)
			value =
			    output_line_value(line, output_members[i].lines[k]);
		if (value.p != NULL) {
			output_read_line(r, i, value);
			return;
		}
	}
}

static void
output_read_lines(struct output_reader *r, struct str text)
{
	while (text.n > 0 && r->rc == RC_OK)
		output_try_line(r, output_line_begin(str_split(&text, '\n')));
}

enum rc
cycle_output_read(struct str text, struct arena *a, struct cycle_output *out,
    char why[CYCLE_WHY_MAX])
{
	struct output_reader r = { .a = a, .out = out, .why = why, .path = "" };
	struct wire_tree *v;

	*out = (struct cycle_output){ 0 };
	why[0] = '\0';
	out->o.memories =
	    arena_alloc(a, CYCLE_MEMORIES_MAX * sizeof(*out->o.memories));
	if (out->o.memories == NULL)
		return RC_TOOBIG;
	text = output_skip_reasoning(text);
	v = output_find_object(text);
	if (v != NULL)
		output_read_object(&r, v);
	else
		output_read_lines(&r, text);
	if (r.rc == RC_OK && r.found == 0)
		output_fail(&r, "",
		    v != NULL ? "has none of the members"
			      : "must be one JSON object");
	wire_tree_free(v);
	return r.rc;
}
