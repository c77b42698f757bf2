/*
 * recognizer: the emotion in a user's text.
 *
 * The model gives the emotion; the intensity comes from the words that express
 * it and from words of degree.  Pure, except for mapping the weights file.
 */
#ifndef EMOTION_ENGINE_RECOGNITION_RECOGNIZER_H
#define EMOTION_ENGINE_RECOGNITION_RECOGNIZER_H

#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct arena;
struct recognizer;

/*
 * recognizer_new(weights, out, why, size):
 * With the weights file at that path; "" is the weights in the program.  On
 * failure *out is NULL and why has the reason.
 * recognizer_free(f):
 * NULL is allowed.
 */
enum rc recognizer_new(const char *weights, struct recognizer **out, char *why,
    size_t size) RC_CHECK;
void recognizer_free(struct recognizer *f);

/*
 * recognizer_read(f, text, out):
 * The likeliest and the second likeliest emotion, the mean point of all
 * emotions weighted by probability, intensity and confidence.  Without words
 * the result is neutral; neutral has intensity 0.  Allocates nothing.  Not
 * thread-safe: f stores the normalized text.
 */
void recognizer_read(
    struct recognizer *f, struct str text, struct wire_user_emotion *out);

#define EVIDENCE_MAX 12

/*
 * recognizer_evidence(f, a, out):
 * The features of the last text with the largest weights for or against its
 * emotion, largest first.  Strings are in a.  Returns how many.
 */
size_t recognizer_evidence(const struct recognizer *f, struct arena *a,
    struct wire_emotion_analyze_response_evidence out[EVIDENCE_MAX]);

#endif /* !EMOTION_ENGINE_RECOGNITION_RECOGNIZER_H */
