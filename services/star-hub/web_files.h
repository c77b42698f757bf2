/*
 * web_files: the browser client and the demo page, linked into the program.
 */
#ifndef STAR_HUB_WEB_FILES_H
#define STAR_HUB_WEB_FILES_H

#include "ws/ws.h"

#define WEB_FILES_N 4
extern const struct ws_file web_files[WEB_FILES_N];

#endif /* !STAR_HUB_WEB_FILES_H */
