package io.railhead.gateway.admission;

/** Who shares with others what can be taken on, and what is in flight of theirs. Any thread. */
public final class TenantQuota {
    private final String name;
    private final InFlightCounter inFlightCounter = new InFlightCounter();

    TenantQuota(String name) {
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
