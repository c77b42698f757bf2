#include "state/speech.h"

#include <stdio.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* "HH:MM HH:MM 0", NUL included. */
#define SPEECH_QUIET_MAX 16
#define SPEECH_DAY_BYTES 16

static const char *const speech_names[] = {
	[SPEECH_ALARMS] = "alarms", [SPEECH_OFF] = "off", [SPEECH_ALL] = "all"
};

static int
speech_parse_minutes(struct str clock)
{
	int h, m;

	if (clock.n != 5 || clock.p[2] != ':')
		return -1;
	h = (clock.p[0] - '0') * 10 + clock.p[1] - '0';
	m = (clock.p[3] - '0') * 10 + clock.p[4] - '0';
	return h >= 0 && h < 24 && m >= 0 && m < 60 ? h * 60 + m : -1;
}

static void
speech_parse(const struct state_reply *r, struct speech_settings *out)
{
	struct str quiet = state_reply_str(state_reply_at(r, 0));
	struct str pro = state_reply_str(state_reply_at(r, 1));
	size_t i;

	*out = (struct speech_settings){ .proactive = SPEECH_ALARMS };
	for (i = 0; i < NELEM(speech_names); i++)
		if (str_eq(pro, str_of(speech_names[i])))
			out->proactive = (enum speech_proactive)i;
	out->quiet_from = speech_parse_minutes(str_split(&quiet, ' '));
	out->quiet_to = speech_parse_minutes(str_split(&quiet, ' '));
	out->quiet_urgent = str_eq(quiet, STR("1"));
	out->has_quiet = out->quiet_from >= 0 && out->quiet_to >= 0;
}

enum rc
speech_settings_put(struct state *s, struct str user, struct str soul,
    const struct speech_settings *x)
{
	char quiet[SPEECH_QUIET_MAX] = "";
	struct script_call c;

	if (x->has_quiet) {
		if (x->quiet_from < 0 || x->quiet_from >= SPEECH_DAY_MIN ||
		    x->quiet_to < 0 || x->quiet_to >= SPEECH_DAY_MIN)
			return RC_INVALID;
		(void)snprintf(quiet, sizeof(quiet), "%02d:%02d %02d:%02d %d",
		    x->quiet_from / 60 % 24, x->quiet_from % 60,
		    x->quiet_to / 60 % 24, x->quiet_to % 60, x->quiet_urgent);
	}
	call_begin(&c, &script_speech_settings_put);
	call_key(&c, KEY_SOUL, user, soul);
	call_text(&c, str_of(quiet), sizeof(quiet));
	call_text(&c, str_of(speech_names[x->proactive]), 8);
	return call_run(s, &c, 1, NULL);
}

enum rc
speech_settings_read(struct state *s, struct str user, struct str soul,
    struct speech_settings *out)
{
	const struct str ids[] = { user, soul };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc = state_key(text, KEY_SOUL, ids, 2, &key);

	*out = (struct speech_settings){ .proactive = SPEECH_ALARMS };
	if (rc == RC_OK)
		rc = state_cmd(s,
		    STATE_ARGS(STR("HMGET"), key, STR("quiet"), STR("pro")),
		    &r);
	if (rc == RC_OK)
		speech_parse(r, out);
	state_reply_free(r);
	return rc;
}

/* A text, absent if there is none. */
static struct str
speech_text(struct record_reader *rd, const struct state_reply *r)
{
	return state_reply_kind(r) == STATE_STR ? record_text(rd, r) : STR_NONE;
}

static void
speech_parse_context(struct record_reader *rd, const struct state_reply *r,
    struct speech_context *out)
{
	const struct state_reply *spoken = state_reply_at(r, 4);
	const struct state_reply *of = state_reply_at(r, 6);

	out->now.ms = state_reply_int(state_reply_at(r, 1));
	out->zone = speech_text(rd, state_reply_at(r, 2));
	/* A JSON text without escapes: names of zones have none. */
	if (out->zone.n >= 2 && out->zone.p[0] == '"')
		out->zone = (struct str){ out->zone.p + 1, out->zone.n - 2 };
	else
		out->zone = STR_NONE;
	speech_parse(state_reply_at(r, 3), &out->soul);
	out->spoken.ms = record_num(rd, state_reply_at(spoken, 0));
	out->day = speech_text(rd, state_reply_at(spoken, 1));
	out->spoken_n = record_num(rd, state_reply_at(spoken, 2));
	if (state_reply_kind(state_reply_at(r, 5)) == STATE_STR)
		out->session_id = record_id(rd, state_reply_at(r, 5));
	out->session_soul = speech_text(rd, state_reply_at(of, 0));
	out->body = speech_text(rd, state_reply_at(of, 1));
	out->turn_begun.ms = state_reply_int(state_reply_at(r, 7));
	out->turn_runs = state_reply_int(state_reply_at(r, 8)) != 0;
}

enum rc
speech_context_read(struct state *s, struct str user, struct str soul,
    struct arena *a, struct speech_context *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct speech_context){ 0 };
	call_begin(&c, &script_speech_read);
	call_key(&c, KEY_USER_SESSIONS, user, STR_NONE);
	call_key(&c, KEY_PROFILE, user, STR_NONE);
	call_key(&c, KEY_SPEECH, user, STR_NONE);
	if (soul.n > 0)
		call_key(&c, KEY_SOUL, user, soul);
	else
		call_key(&c, KEY_SPEECH, user, STR_NONE);
	call_token(&c, user);
	call_text(&c, soul, ID_MAX);
	rc = call_run(s, &c, 9, &r);
	if (rc == RC_OK) {
		speech_parse_context(&rd, r, out);
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
speech_count(struct state *s, struct str user, struct str push, struct str day)
{
	struct script_call c;

	call_begin(&c, &script_speech_count);
	call_key(&c, KEY_SPEECH, user, STR_NONE);
	call_text(&c, push, ID_MAX);
	call_text(&c, day, SPEECH_DAY_BYTES);
	return call_run(s, &c, 1, NULL);
}
