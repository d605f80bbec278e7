declare module 'whatwg-mimetype' {
  export class MIMEType {
    /** Null where `type` is not a valid MIME type. */
    static parse(type: string): MIMEType | null
    readonly parameters: { get(name: string): string | undefined }
  }
}
