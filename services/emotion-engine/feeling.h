/*
 * feeling: what a user feels, as far as the words say it.
 *
 * The features of a text, weighed by the model; how strong the feeling is comes
 * from the words that carry it and from degrees.  Pure but for the weights
 * file, which is mapped once.
 */
#ifndef EMOTION_ENGINE_FEELING_H
#define EMOTION_ENGINE_FEELING_H

#include "core/rc.h"
#include "core/str.h"
#include "emotion.h"
#include "feature.h"
#include "wire/msgs.h"

struct arena;
struct feeling;

/*
 * feeling_new(weights, out, why, size):
 * A recogniser with the weights file of that path, or with the weights in the
 * program if it is empty.  On failure *out is NULL and why has the words.
 * feeling_free(f):  NULL is allowed.
 */
enum rc feeling_new(
    const char *weights, struct feeling **out, char *why, size_t size) RC_CHECK;
void feeling_free(struct feeling *f);

/*
 * feeling_read(f, text, out):
 * Recognise the emotion in text: its name and the second likeliest, the point
 * of all emotions as likely as they are, how strong it is and how sure that is.
 * Without any words it is neutral; neutral has intensity 0.  Allocates nothing.
 * One thread at a time: f holds the folded text.
 */
void feeling_read(
    struct feeling *f, struct str text, struct wire_user_emotion *out);

/* Most pieces of evidence that are told. */
#define FEELING_EVIDENCE_MAX 12

/*
 * feeling_evidence(f, a, out):
 * What weighed most in the text last read, for or against its emotion, the
 * heaviest first.  Texts live in a.  Returns how many.
 */
size_t feeling_evidence(const struct feeling *f, struct arena *a,
    struct wire_emotion_analyze_response_evidence out[FEELING_EVIDENCE_MAX]);

#endif /* !EMOTION_ENGINE_FEELING_H */
