/// The version of these sources, by SemVer: of the libraries and of the programs that come with them.
package enum RelayVersion {
    package static let current = "0.1.0"
}
