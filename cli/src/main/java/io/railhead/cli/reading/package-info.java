/** The same objects, read in several ways by one client and measured, whoever holds them. */
@NullMarked
package io.railhead.cli.reading;

import org.jspecify.annotations.NullMarked;
