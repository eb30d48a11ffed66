/** The audit stream: events that name who was let in, refused, or changed a running gateway. */
@NullMarked
package io.railhead.gateway.audit;

import org.jspecify.annotations.NullMarked;
