/** {@code railhead admin}: an administrator's calls to a running gateway. */
@NullMarked
package io.railhead.cli.admin;

import org.jspecify.annotations.NullMarked;
