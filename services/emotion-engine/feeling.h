/*
 * feeling: what a user feels, as far as the words say it.
 *
 * A lexicon of cues over the 15 emotions, Chinese and English, in one pass: the
 * nearest negator before a cue turns it, degree words change its strength;
 * quotations, questions about the listener and descriptions of things ("a sad
 * song") say nothing about the user.
 */
#ifndef EMOTION_ENGINE_FEELING_H
#define EMOTION_ENGINE_FEELING_H

#include "core/str.h"
#include "wire/msgs.h"

/* Code points that are looked at; what follows does not count. */
#define FEELING_TEXT_MAX 16384

struct feeling;

/*
 * feeling_new():    A recogniser; it reads the lexicon.
 * feeling_free(f):  NULL is allowed.
 */
struct feeling *feeling_new(void);
void feeling_free(struct feeling *f);

/*
 * feeling_read(f, text, out):
 * Recognise the emotion in text: its name, its prototype, how strong it is and
 * how sure that is.  Nothing found is neutral, intensity 0.  Allocates nothing.
 * One thread at a time: f holds the folded text.
 */
void feeling_read(
    struct feeling *f, struct str text, struct wire_user_emotion *out);

#endif /* !EMOTION_ENGINE_FEELING_H */
