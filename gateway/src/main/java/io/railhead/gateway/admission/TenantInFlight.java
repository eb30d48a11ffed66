package io.railhead.gateway.admission;

/** The tenants' shares of admission, and their requests in flight. Any thread. */
public final class TenantInFlight {
    private final String name;
    private final InFlightCounter inFlightCounter = new InFlightCounter();

    TenantInFlight(String name) {
        this.name = name;
    }

    /** As metrics call them; "" for whom nobody can name. */
    String name() {
        return name;
    }

    InFlightCounter use() {
        return inFlightCounter;
    }
}
