/* play: the steps of engine-play. */
#ifndef ENGINE_PLAY_PLAY_H
#define ENGINE_PLAY_PLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Settings of the steps that follow. */
struct play {
	long pace_ms; /* before each line */
	long speed;
	FILE *held; /* of lines that wait for a release; NULL: none */
	char *held_text;
	size_t held_n;
};

/* play_step(p, step): Run it, as main.c has them; -1: there is none. */
int play_step(struct play *p, char *step);

/* play_hostile(verb, value): One that tries what an engine may not; as above.
 */
int play_hostile(const char *verb, const char *value);

/* play_report(verb, value, err): What came of it; err is an errno or 0. */
void play_report(const char *verb, const char *value, int err);

/* play_number(value): A number that is not negative; exits with 64. */
long play_number(const char *value);

/* play_wait(ms): -1: for ever. */
void play_wait(long ms);

#endif /* !ENGINE_PLAY_PLAY_H */
