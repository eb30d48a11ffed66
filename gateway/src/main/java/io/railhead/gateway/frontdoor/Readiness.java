package io.railhead.gateway.frontdoor;

import java.util.List;

/** Readiness for requests; no store's outage changes it. */
public interface Readiness {

    /** Why not, in one line; "" if it should. */
    String reasonNotReady();

    /** The state of each store, a line each; empty before the start has ended. */
    List<String> stores();

    /** The state of each fabric, likewise; none of them changes the answer. */
    List<String> fabrics();
}
