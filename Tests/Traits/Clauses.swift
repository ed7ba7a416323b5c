public import Testing

/// The clauses of README's table. `make test` prints how many tests try each.
extension Tag {
    /// Order.
    @Tag public static var g1: Self
    /// No silent loss.
    @Tag public static var g2: Self
    /// Bounded memory.
    @Tag public static var g3: Self
    /// Isolation.
    @Tag public static var g4: Self
    /// Published if and only if committed.
    @Tag public static var g5: Self
    /// Survival.
    @Tag public static var g6: Self
    /// Authentic.
    @Tag public static var g7: Self
    /// Unbreakable input.
    @Tag public static var g8: Self
}
