package io.railhead.gateway.trust;

/** What the gateway does with the bytes that a store sends. */
public enum Fills {
    /** It takes them as they are: none changes on its way. */
    TRUSTED,
    /** It holds them against the store's checksums ({@code verify_fills}): some do change. */
    VERIFIED
}
