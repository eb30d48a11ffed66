package io.railhead.os;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;

/** A shared library by the name that the dynamic linker knows. */
public final class SharedLibrary {
    private SharedLibrary() {}

    /** Whether it and all it needs can be loaded; it is unloaded again. */
    @SuppressWarnings("restricted")
    public static boolean isLoadable(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return SymbolLookup.libraryLookup(name, arena) != null;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
