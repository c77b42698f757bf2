/*
 * spool_format: see spool_format.h.
 */
#include <inttypes.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/spool_format.h"

static const char *const spool_stop_names[SPOOL_STOP_N] = { "none", "canceled",
	"lingered", "budget", "drained", "deadline", "stalled", "output",
	"disk", "workspace" };

static void
record_put(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t
record_get(const unsigned char *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

void
spool_record_write(
    const struct spool_record *r, unsigned char dst[SPOOL_RECORD_BYTES])
{
	dst[0] = (unsigned char)r->stream;
	record_put(dst + 1, r->end);
	record_put(dst + 9, (uint64_t)r->ns);
}

enum rc
spool_record_read(
    const unsigned char src[SPOOL_RECORD_BYTES], struct spool_record *r)
{
	uint64_t end = record_get(src + 1), ns = record_get(src + 9);

	if (src[0] >= SPOOL_STREAMS_N || end > INT64_MAX || ns > INT64_MAX)
		return RC_INVALID;
	*r = (struct spool_record){ (enum spool_stream)src[0], end,
		(int64_t)ns };
	return RC_OK;
}

const char *
spool_stop_name(enum spool_stop s)
{
	return spool_stop_names[s];
}

void
spool_exit_write(const struct spool_exit *e, struct buf *out)
{
	buf_printf(out,
	    "code=%d\nsignal=%d\nstopped=%s\nlost=%d\nstart_error=%d\n"
	    "start_step=%s\norphans=%" PRId64 "\nns=%" PRId64 "\n",
	    e->code, e->signal, spool_stop_name(e->stopped), e->lost,
	    e->start_error, e->start_step, e->orphans, e->ns);
}

static enum rc
exit_read_stop(struct str v, enum spool_stop *out)
{
	for (int i = 0; i < SPOOL_STOP_N; i++)
		if (str_eq(v, str_of(spool_stop_names[i]))) {
			*out = (enum spool_stop)i;
			return RC_OK;
		}
	return RC_INVALID;
}

enum exit_key {
	EXIT_CODE,
	EXIT_SIGNAL,
	EXIT_LOST,
	EXIT_ERROR,
	EXIT_ORPHANS,
	EXIT_NS,
	EXIT_KEYS_N
};
static const struct {
	const char *key;
	int64_t min, max;
} exit_keys[EXIT_KEYS_N] = {
	{ "code", -1, 255 },
	{ "signal", 0, 64 },
	{ "lost", 0, 1 },
	{ "start_error", 0, 4095 },
	{ "orphans", 0, INT64_MAX },
	{ "ns", 0, INT64_MAX },
};

enum rc
spool_exit_read(struct str s, struct spool_exit *e)
{
	int64_t v[EXIT_KEYS_N] = { -1 };
	unsigned found = 0;
	struct str line, key;
	size_t i;

	*e = (struct spool_exit){ 0 };
	if (s.n > SPOOL_EXIT_MAX || !str_ends(s, STR("\n")))
		return RC_INVALID;
	while (s.n > 0) {
		line = str_split(&s, '\n');
		key = str_split(&line, '=');
		if (line.p == NULL)
			return RC_INVALID;
		for (i = 0; i < EXIT_KEYS_N; i++) {
			if (!str_eq(key, str_of(exit_keys[i].key)))
				continue;
			if (str_to_i64(line, exit_keys[i].min, exit_keys[i].max,
				&v[i]) != RC_OK)
				return RC_INVALID;
			found |= 1U << i;
		}
		if (str_eq(key, STR("start_step")))
			str_copy(line, e->start_step, sizeof(e->start_step));
		else if (str_eq(key, STR("stopped"))) {
			if (exit_read_stop(line, &e->stopped) != RC_OK)
				return RC_INVALID;
			found |= 1U << EXIT_KEYS_N;
		}
	}
	if (found != (1U << (EXIT_KEYS_N + 1)) - 1)
		return RC_INVALID;
	e->code = (int)v[EXIT_CODE];
	e->signal = (int)v[EXIT_SIGNAL];
	e->lost = v[EXIT_LOST] != 0;
	e->start_error = (int)v[EXIT_ERROR];
	e->orphans = v[EXIT_ORPHANS];
	e->ns = v[EXIT_NS];
	return RC_OK;
}
