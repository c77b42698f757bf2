/*
 * The HTTP face.
 */
#include "on_label.h"

#include <math.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/mem.h"
#include "emotion.h"
#include "engine.h"
#include "feeling.h"
#include "svc/svc.h"
#include "tell.h"
#include "wire/msgs.h"

static double
latency_ms(struct mono start)
{
	return round((double)mono_diff_ns(clock_mono(), start) / 1e3) / 1e3;
}

void
on_analyze(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_analyze_request *req = svc_call_request(c);
	struct mono start = clock_mono();
	struct wire_emotion_analyze_response rep;
	struct wire_emotion_analyze_response_evidence why[FEELING_EVIDENCE_MAX];
	struct wire_user_emotion u;

	feeling_read(e->feeling, req->text, &u);
	rep = (struct wire_emotion_analyze_response){ .emotion = u.emotion,
		.p = tell_number(u.p),
		.a = tell_number(u.a),
		.d = tell_number(u.d),
		.second = u.second,
		.has_second = u.has_second,
		.intensity = tell_number(u.intensity),
		.confidence = tell_number(u.confidence),
		.has_confidence = true,
		.latency_ms = latency_ms(start) };
	if (req->debug) {
		rep.n_evidence =
		    feeling_evidence(e->feeling, svc_call_arena(c), why);
		rep.evidence = why;
		rep.has_evidence = true;
	}
	svc_reply(c, &rep);
}

void
on_convert(void *arg, struct svc_call *c)
{
	const struct wire_emotion_convert_request *req = svc_call_request(c);
	struct mono start = clock_mono();
	enum wire_emotion emotion = emotion_find(req->emotion);
	const struct wire_pad *pad = emotion_prototype(emotion);
	struct wire_emotion_convert_response rep = { .emotion = emotion,
		.p = pad->p,
		.a = pad->a,
		.d = pad->d,
		.intensity = req->confidence,
		.latency_ms = latency_ms(start) };

	(void)arg;
	svc_reply(c, &rep);
}

#define AT(m) offsetof(struct wire_emotion_pad_table_pad_table, m)

void
on_pad_table(void *arg, struct svc_call *c)
{
	static const size_t at[EMOTION_N] = {
		[WIRE_EMOTION_NEUTRAL] = AT(neutral),
		[WIRE_EMOTION_JOY] = AT(joy),
		[WIRE_EMOTION_SURPRISE] = AT(surprise),
		[WIRE_EMOTION_SADNESS] = AT(sadness),
		[WIRE_EMOTION_FEAR] = AT(fear),
		[WIRE_EMOTION_ANGER] = AT(anger),
		[WIRE_EMOTION_DISGUST] = AT(disgust),
		[WIRE_EMOTION_CALM] = AT(calm),
		[WIRE_EMOTION_RELIEF] = AT(relief),
		[WIRE_EMOTION_GRATITUDE] = AT(gratitude),
		[WIRE_EMOTION_EXCITEMENT] = AT(excitement),
		[WIRE_EMOTION_ANXIETY] = AT(anxiety),
		[WIRE_EMOTION_FRUSTRATION] = AT(frustration),
		[WIRE_EMOTION_DISAPPOINTMENT] = AT(disappointment),
		[WIRE_EMOTION_BOREDOM] = AT(boredom),
	};
	struct wire_emotion_pad_table rep;
	size_t i;

	(void)arg;
	for (i = 0; i < EMOTION_N; i++)
		memcpy((char *)&rep.pad_table + at[i],
		    emotion_prototype((enum wire_emotion)i),
		    sizeof(struct wire_pad));
	svc_reply(c, &rep);
}
