/** {@code railhead demo}: real processes, real files, one table. */
@NullMarked
package io.railhead.cli.demo;

import org.jspecify.annotations.NullMarked;
