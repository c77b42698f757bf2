/*
 * Defaults: what a member is when it is absent.
 */
#include "gen.h"
#include "wire/check.h"

static enum rc
read_default(const struct wire_type *t, const json_t *v, struct gen_field *f,
    const struct wire_at *at)
{
	if (t->kind == WIRE_I64 && json_is_integer(v)) {
		f->dflt.i = json_integer_value(v);
		return wire_check_i64(t, f->dflt.i, at);
	}
	if (t->kind == WIRE_F64 && json_is_number(v)) {
		f->dflt.f = json_number_value(v);
		return wire_check_f64(t, f->dflt.f, at);
	}
	if (t->kind == WIRE_BOOL && json_is_boolean(v)) {
		f->dflt.i = json_is_true(v);
		return wire_check_bool(t, json_is_true(v), at);
	}
	struct str s = { json_string_value(v), json_string_length(v) };
	if (t->kind == WIRE_STR && s.p != NULL) {
		f->dflt_s = s;
		return wire_check_text(t, s, at);
	}
	if (t->kind == WIRE_ENUM && s.p != NULL) {
		while (
		    f->dflt.i < t->n_names && !str_eq(t->names[f->dflt.i], s))
			f->dflt.i++;
		return wire_check_enum(t, (size_t)f->dflt.i, at);
	}
	return wire_fail(at, RC_INVALID, "is not of the member's type");
}

void
gen_default(struct where w, struct gen_field *f, const json_t *value)
{
	struct wire_err err;
	struct wire_at at = { .err = &err };
	if ((f->flags & WIRE_REQUIRED) != 0)
		gen_fail(w, "belongs to a member that is required");
	if (f->type->t.kind == WIRE_OBJECT || f->type->t.kind == WIRE_ARRAY ||
	    f->type->t.kind == WIRE_RAW)
		gen_fail(w, "is only supported for single values");
	if (read_default(&f->type->t, value, f, &at) != RC_OK)
		gen_fail(w, "%s", err.why);
	f->flags |= WIRE_DEFAULT;
}
