package io.railhead.os;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;

/** Finds shared libraries by the dynamic linker's names. */
public final class SharedLibrary {
    private SharedLibrary() {}

    /** Returns whether the library and its dependencies can be loaded; it is unloaded again. */
    @SuppressWarnings("restricted")
    public static boolean isLoadable(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return SymbolLookup.libraryLookup(name, arena) != null;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
