package io.railhead.gateway.admin;

/** Whether the gateway should be sent requests. */
@FunctionalInterface
public interface Readiness {

    /** Why not, in one line; "" if it should. */
    String reasonNotReady();
}
