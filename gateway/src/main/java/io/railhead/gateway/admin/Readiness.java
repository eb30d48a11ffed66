package io.railhead.gateway.admin;

import java.util.List;

/** Whether the gateway should be sent requests, which no store's outage changes. */
public interface Readiness {

    /** Why not, in one line; "" if it should. */
    String reasonNotReady();

    /** How each store does, a line each; none before the start has ended. */
    List<String> stores();
}
