/** The admin API: an operator's signed calls on the admin port. */
@NullMarked
package io.railhead.gateway.admin;

import org.jspecify.annotations.NullMarked;
