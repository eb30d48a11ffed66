/** The same objects, read over several paths by one client and measured. */
@NullMarked
package io.railhead.cli.reading;

import org.jspecify.annotations.NullMarked;
