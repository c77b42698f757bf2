#include "run_reply_check.h"

#include "core/buf.h"
#include "wire/slice.h"

#define VALUE_MAX 65536

struct reply_check_options {
	const struct wire_question_option *list;
	size_t n;
	bool valid;
};

/* ---- choices ---- */

static bool
reply_check_is_option(const struct reply_check_options *o, struct str value)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (str_eq(o->list[i].value, value))
			return true;
	return false;
}

/* Whether a JSON string is one of them. */
static bool
reply_check_is_option_json(const struct reply_check_options *o, struct str json)
{
	struct buf text = BUF_INIT(VALUE_MAX);
	bool is = false;

	if (json.n >= 2 && json.p[0] == '"') {
		wire_text_put((struct str){ json.p + 1, json.n - 2 }, &text);
		is = reply_check_is_option(o, buf_str(&text));
	}
	buf_free(&text);
	return is;
}

static void
reply_check_on_element(void *arg, const struct wire_slice *s)
{
	struct reply_check_options *o = arg;

	if (!reply_check_is_option_json(o, s->value))
		o->valid = false;
}

static bool
reply_check_is_list(struct reply_check_options *o, struct str json)
{
	const struct wire_slice_handler h = { .each = reply_check_on_element,
		.arg = o };

	o->valid = true;
	return json.n > 0 && json.p[0] == '[' &&
	    wire_slice_each(json, &h) == RC_OK && o->valid;
}

/* ---- forms ---- */

struct reply_check_form {
	const struct wire_question_field *field;
	bool found, valid;
};

static void
reply_check_on_member(void *arg, const struct wire_slice *s)
{
	struct reply_check_form *f = arg;
	struct reply_check_options o = { f->field->options, f->field->n_options,
		true };
	struct buf name = BUF_INIT(1024);

	wire_text_put(s->key, &name);
	if (str_eq(buf_str(&name), f->field->name)) {
		f->found = true;
		if (f->field->kind == WIRE_QUESTION_KIND_SINGLE_CHOICE)
			f->valid = reply_check_is_option_json(&o, s->value);
		else if (f->field->kind == WIRE_QUESTION_KIND_MULTI_CHOICE)
			f->valid = reply_check_is_list(&o, s->value);
	}
	buf_free(&name);
}

static const char *
reply_check_check_form(const struct wire_run_question *q, struct str content)
{
	size_t i;

	content = str_trim(content);
	if (content.n == 0 || content.p[0] != '{' ||
	    wire_slice_each(content, NULL) != RC_OK)
		return "/content: must be a JSON object with the form's fields";
	for (i = 0; i < q->n_fields; i++) {
		struct reply_check_form f = { .field = &q->fields[i],
			.valid = true };
		const struct wire_slice_handler h = {
			.each = reply_check_on_member, .arg = &f
		};

		if (wire_slice_each(content, &h) != RC_OK || !f.valid ||
		    (!f.found && q->fields[i].required))
			return "/content: a field is missing, or has a value "
			       "that is none of its options";
	}
	return NULL;
}

const char *
run_reply_check(const struct wire_run_question *q, struct str content)
{
	struct reply_check_options o = { q->options, q->n_options, true };

	switch (q->kind) {
	case WIRE_QUESTION_KIND_SINGLE_CHOICE:
		if (q->n_options > 0 && !reply_check_is_option(&o, content))
			return "/content: must be one of the question's values";
		return NULL;
	case WIRE_QUESTION_KIND_MULTI_CHOICE:
		if (q->n_options > 0 &&
		    !reply_check_is_list(&o, str_trim(content)))
			return "/content: must be a JSON array of the "
			       "question's values";
		return NULL;
	case WIRE_QUESTION_KIND_FORM:
		return reply_check_check_form(q, content);
	case WIRE_QUESTION_KIND_FREE_TEXT:
		break;
	}
	return NULL;
}
