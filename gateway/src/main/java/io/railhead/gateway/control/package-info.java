/** What an operator has the gateway do, by signed calls on the admin port. */
@NullMarked
package io.railhead.gateway.control;

import org.jspecify.annotations.NullMarked;
