package io.railhead.client.kv;

/** The end of a block's put. */
public enum Written {
    /** The block is held now, with these bytes. */
    STORED,
    /** The key was held already, and no bytes were moved. */
    EXISTS
}
