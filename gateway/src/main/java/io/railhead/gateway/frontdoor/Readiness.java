package io.railhead.gateway.frontdoor;

import java.util.List;

/** Readiness for requests; no store's outage changes it. */
public interface Readiness {

    /** Returns in one line why the gateway is not ready; "" if it is ready. */
    String reasonNotReady();

    /** Returns the state of each store, one line each; empty before the start has ended. */
    List<String> stores();

    /** Returns the state of each fabric, one line each. Fabrics do not change the readiness. */
    List<String> fabrics();
}
