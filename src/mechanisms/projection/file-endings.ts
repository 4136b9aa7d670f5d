/**
 * Endings that a bare name is read as the name of a file for, not of a host: `report.md` is a report, although `.md` is a
 * top level of the Internet. A host with such an ending has to be written as a URL.
 *
 * From the extensions of GitHub's Linguist (https://github.com/github-linguist/linguist, `languages.yml`) and of the IANA
 * media types (https://www.iana.org/assignments/media-types), as far as they are common. Not here: endings under which
 * far more hosts than files are named (`com`, `org`, `net`, `io`, `ai`, `app`, `dev`, `me`, `co`, `tv`).
 */
const endings = new Set(
  [
    // Texts and documents.
    "md mdx markdown txt text rst adoc tex bib log rtf pdf ps eps odt ods odp doc docx dot xls xlsx ppt pptx epub mobi",
    "csv tsv json jsonl json5 ndjson xml xsd xsl yaml yml toml ini cfg conf config properties env lock sum map diff patch",
    // Programs.
    "js mjs cjs jsx ts mts cts tsx vue svelte css scss sass less html htm xhtml php py pyi pyc ipynb rb rs go java class jar",
    "kt kts scala sc swift mm hh hpp cpp cxx cc cs fs fsx vb pl pm pod lua sh bash zsh fish ps1 bat cmd exe msi dll so dylib",
    "ml mli mo po hs lhs ex exs erl clj cljs el lisp jl nim zig dart sql proto graphql gql tf hcl mk make cmake gradle wasm",
    "asm vhd vhdl sol st pro pas ada tcl awk sed vim bin dat db sqlite sqlite3 mdb parquet arrow avro orc pkl pickle npy",
    // Images, sounds, films, archives, keys.
    "png jpg jpeg gif bmp svg ico webp avif heic tif tiff psd raw mp3 wav flac ogg opus aac mid mp4 mkv mov avi webm mpg",
    "mpeg ttf otf woff woff2 zip gz tgz bz bz2 xz zst tar rar cab iso dmg deb rpm apk ipa pem crt cer csr der p12 pfx pub",
    "key asc sig gpg torrent bak tmp temp swp orig old cache out err pid",
  ].flatMap((row) => row.split(" ")),
);

/** Whether a bare name, in lower case and without a port, has the form of a file name. */
export function isFileName(name: string): boolean {
  return endings.has(name.slice(name.lastIndexOf(".") + 1));
}
