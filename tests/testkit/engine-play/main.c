/*
 * engine-play: a scripted engine.  Its arguments are steps "verb=value", run in
 * order; what it tries is reported on stdout, as "read=/x: refused (EACCES)" or
 * "read=/x: done".
 *
 *	out=TEXT err=TEXT       a line
 *	hold  release           out's lines between them are one write
 *	line=BYTES              one of that length; endless: for ever
 *	file=PATH               its bytes at once; lines=PATH: line by line
 *	stamps=N                lines with monotonic nanoseconds
 *	burst=N,K,EVERY,TEXT    N lines, K in one write; of EVERY lines the
 *	                        last is TEXT, its "@" such nanoseconds
 *	pace=MS                 before each of these lines; of a burst from the
 *	                        beginning of one to that of the next
 *	spool=DIR               a spool's bytes, with the timing of its journal
 *	speed=N                 of that: so many times as fast
 *	echo                    stdin
 *	env=NAME                its value, as a line
 *	wait=MS  silent         for a time, for ever
 *	await=NAME              until that file is in the working directory,
 *	                        which is then removed
 *	exit=CODE  die=SIGNAL   the end
 *	ignore                  SIGTERM; polite: exit with 7 after it
 *	child                   fork one that ignores SIGTERM and holds nothing
 *	daemon                  one that has left session and group, and holds
 *	                        stdout open
 *	hide                    one without an environment; hidden=PID
 *	forks=N                 so many children that live for ever
 *	bomb                    all fork as long as they can
 *	read=PATH write=PATH    a file, list=PATH a folder, truncate=PATH
 *	fill=BYTES              a file in the working directory
 *	tcp=PORT udp=PORT       of 127.0.0.1; unix=PATH, abstract=NAME
 *	listen=PATH  netlink    sockets that are its own
 *	signal=PID memory=PID   of another process
 *	gain                    rights by executing a program
 *	descriptors             that are open beyond 2
 */
#include <stdio.h>

#include "testkit/engine-play/play.h"

int
main(int argc, char *argv[])
{
	struct play p = { .speed = 1 };
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 1; i < argc; i++) {
		if (play_step(&p, argv[i]) != 0) {
			fprintf(
			    stderr, "engine-play: %s: no such step\n", argv[i]);
			return 64;
		}
	}
	return 0;
}
