/*
 * web_files: the browser client and the demo page, linked into the program. The
 * page is at /demo, too: a host that has another page at / forwards /demo,
 * /star.js, /env and /human.
 */
#ifndef STAR_HUB_WEB_FILES_H
#define STAR_HUB_WEB_FILES_H

#include "ws/ws.h"

#define WEB_FILES_N 5
extern const struct ws_file web_files[WEB_FILES_N];

#endif /* !STAR_HUB_WEB_FILES_H */
