/*
 * The words of the speech that are entities, and the times.
 */
#include "entity.h"

#include "wire/out.h"

bool
entity_is_duration(const struct datetime *t)
{
	return t->kind == DATETIME_DURATION ||
	    (t->kind == DATETIME_INSTANT && t->is_relative && t->seconds > 0);
}

static const char *
time_type(const struct datetime *t)
{
	return entity_is_duration(t) ? "time_duration" : "time_time_point";
}

static bool
is_type(struct str wanted, const char *type)
{
	return type != NULL &&
	    (wanted.p == NULL || str_eq(wanted, str_of(type)));
}

static bool
next_word(const struct reading *r, size_t from, size_t end, struct str type,
    struct entity *out)
{
	size_t i;

	for (i = 0; i < r->n_words && r->words[i].start < end; i++) {
		const struct speech_hit *w = &r->words[i];

		if (w->start < from || !is_type(type, speech_type(w->kind)) ||
		    reading_time_at(r, w->start, w->end) != NULL)
			continue;
		*out = (struct entity){ speech_type(w->kind), w->start, w->end,
			w->value, NULL };
		return true;
	}
	return false;
}

static bool
next_time(const struct reading *r, size_t from, size_t end, struct str type,
    struct entity *out)
{
	size_t i;

	for (i = 0; i < r->n_times && r->times[i].start < end; i++) {
		const struct datetime *t = &r->times[i];

		if (t->start < from || !is_type(type, time_type(t)))
			continue;
		*out =
		    (struct entity){ time_type(t), t->start, t->end, NULL, t };
		return true;
	}
	return false;
}

bool
entity_next(const struct reading *r, size_t from, size_t end, struct str type,
    struct entity *out)
{
	struct entity time;
	bool word = next_word(r, from, end, type, out);

	if (r->tells_times && next_time(r, from, end, type, &time) &&
	    (!word || time.start < out->start)) {
		*out = time;
		return true;
	}
	return word;
}

static int64_t
points(struct str s, size_t n)
{
	return str_utf8_count((struct str){ s.p, n });
}

void
entity_list(const struct reading *r, struct buf *b)
{
	struct str s = r->cmd.text, any = { 0 };
	struct wire_out o = { .b = b };
	struct entity e;
	size_t from = 0;

	wire_out_array(&o);
	while (entity_next(r, from, s.n, any, &e)) {
		wire_out_object(&o);
		wire_out_key(&o, STR("type"));
		wire_out_str(&o, str_of(e.type));
		wire_out_key(&o, STR("text"));
		wire_out_str(
		    &o, (struct str){ s.p + e.start, e.end - e.start });
		wire_out_key(&o, STR("start"));
		wire_out_i64(&o, points(s, e.start));
		wire_out_key(&o, STR("end"));
		wire_out_i64(&o, points(s, e.end));
		if (e.value != NULL) {
			wire_out_key(&o, STR("value"));
			wire_out_str(&o, str_of(e.value));
		} else if (e.time->kind == DATETIME_DURATION) {
			wire_out_key(&o, STR("value"));
			wire_out_f64(&o, e.time->seconds);
		} else {
			char at[WALL_FORMAT_MAX];

			wall_format(e.time->from, e.time->offset_min, at);
			wire_out_key(&o, STR("value"));
			wire_out_str(&o, str_of(at));
		}
		wire_out_object_end(&o);
		from = e.start + 1;
	}
	wire_out_array_end(&o);
}
