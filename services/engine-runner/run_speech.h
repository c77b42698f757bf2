/*
 * run_speech: a run that ends is spoken about, if it was started in a
 * conversation.
 */
#ifndef ENGINE_RUNNER_RUN_SPEECH_H
#define ENGINE_RUNNER_RUN_SPEECH_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct run_record;
struct runner;

/*
 * run_speech_make(rec, text, a, out):
 * The request, which is the same however often it is made; text is the engine's
 * last message or absent.  RC_NOENT: nothing is to be said, as the user has
 * canceled it, or there is no conversation.  RC_TOOBIG if a is full.  Pure.
 */
enum rc run_speech_make(const struct run_record *rec, struct str text,
    struct arena *a, struct wire_speak_request *out) RC_CHECK;

/*
 * run_speech_send(r, rec, text):
 * Request it.  If no alarm-clock stores it, the session's next turn reports the
 * run (run_note_write()), as also if it is not spoken.
 */
void run_speech_send(
    struct runner *r, const struct run_record *rec, struct str text);

#endif /* !ENGINE_RUNNER_RUN_SPEECH_H */
