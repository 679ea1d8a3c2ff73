// stub
export const writePage = (_out: string, _docs: string): void => undefined;
