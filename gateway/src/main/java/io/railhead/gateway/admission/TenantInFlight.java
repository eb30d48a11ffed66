package io.railhead.gateway.admission;

/** One tenant's share of admission, and its requests in flight. Any thread. */
public final class TenantInFlight {
    private final String name;
    private final InFlightCounter inFlightCounter = new InFlightCounter();

    TenantInFlight(String name) {
        this.name = name;
    }

    /** Returns the name in metrics; "" for an unknown sender. */
    String name() {
        return name;
    }

    InFlightCounter use() {
        return inFlightCounter;
    }
}
